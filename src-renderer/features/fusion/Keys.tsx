import { Kbd, Text } from '@mantine/core';

/** A line of text in which <k>N</k> marks a key. */
export function Keys({ text }: { text: string }) {
  return (
    <Text size="xs" c="dimmed" component="p">
      {text.split(/<k>(.*?)<\/k>/).map((piece, i) =>
        i % 2 === 1 ? (
          <Kbd key={i} size="xs">
            {piece}
          </Kbd>
        ) : (
          <span key={i}>{piece}</span>
        ),
      )}
    </Text>
  );
}
