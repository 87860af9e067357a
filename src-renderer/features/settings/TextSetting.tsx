import { Textarea } from '@mantine/core';
import { useState } from 'react';

/** A text saved on blur, not on every key. */
export function TextSetting({
  label,
  description,
  text,
  minRows = 1,
  maxLength,
  onChange,
}: {
  label: string;
  description: string;
  text: string;
  minRows?: number;
  maxLength: number;
  onChange: (text: string) => void;
}) {
  const [draft, setDraft] = useState<string>();
  return (
    <Textarea
      label={label}
      description={description}
      autosize
      minRows={minRows}
      maxRows={12}
      maxLength={maxLength}
      value={draft ?? text}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={() => {
        if (draft !== undefined && draft !== text) onChange(draft);
        setDraft(undefined);
      }}
    />
  );
}
