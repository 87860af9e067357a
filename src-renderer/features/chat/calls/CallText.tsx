import { CodeBlock } from '../../../ui/markdown/CodeBlock.tsx';
import { asCode } from './call-views.ts';
import classes from './Calls.module.css';

/** Arguments or a result, with a button to copy them. */
export function CallText({ label, text }: { label: string; text: string }) {
  const { code, language } = asCode(text);
  return (
    <div className={classes.text}>
      <CodeBlock code={code} language={language} label={label} />
    </div>
  );
}
