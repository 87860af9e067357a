import { Stack, type StackProps } from '@mantine/core';

type FormProps = Omit<StackProps, 'onSubmit'> & { role?: string; onSubmit: () => void };

/** A form whose fields are below each other. The page stays when it is submitted. */
export function Form({ onSubmit, ...stack }: FormProps) {
  return (
    <Stack
      component="form"
      gap={0}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      {...stack}
    />
  );
}
