import { TextInput } from '@mantine/core';
import { useState } from 'react';

/** A line of text saved on blur or Enter, not on every key. */
export function LineSetting({
  label,
  description,
  text,
  maxLength,
  onChange,
}: {
  label: string;
  description?: string;
  text: string;
  maxLength: number;
  onChange: (text: string) => void;
}) {
  const [draft, setDraft] = useState<string>();
  const keep = (): void => {
    if (draft !== undefined && draft.trim() !== text) onChange(draft.trim());
    setDraft(undefined);
  };
  return (
    <TextInput
      label={label}
      description={description}
      maxLength={maxLength}
      autoComplete="off"
      spellCheck={false}
      value={draft ?? text}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={keep}
      onKeyDown={({ key }) => key === 'Enter' && keep()}
    />
  );
}
