import 'katex/dist/katex.min.css';
import katex from 'katex';
import { useLayoutEffect, useRef } from 'react';

/**
 * A formula rendered by KaTeX as elements rather than HTML, because the page's policy allows no style attributes. Sizes
 * and expansions are bounded, and commands that create links or load resources are disabled.
 */
export default function Formula({ source, display }: { source: string; display: boolean }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!element.current) return;
    katex.render(source, element.current, {
      displayMode: display,
      throwOnError: false,
      trust: false,
      strict: 'ignore',
      maxSize: 20,
      maxExpand: 500,
      errorColor: 'inherit',
    });
  }, [source, display]);
  return <span ref={element} style={display ? { display: 'block', overflowX: 'auto' } : undefined} />;
}
