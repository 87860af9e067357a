import { Text } from '@mantine/core';
import { useState, type DragEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './ModelDrop.module.css';

/** Makes the whole screen a drop zone. */
export function ModelDrop({
  onFiles,
  children,
}: {
  onFiles: (files: readonly File[]) => void;
  children: ReactNode;
}) {
  const { t } = useTranslation('models');
  // Enter and leave fire for every element under the pointer; the counter detects leaving the screen itself.
  const [depth, setDepth] = useState(0);
  const carriesFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files');
  return (
    <div
      className={classes.drop}
      onDragEnter={(event) => carriesFiles(event) && setDepth((count) => count + 1)}
      onDragLeave={(event) => carriesFiles(event) && setDepth((count) => Math.max(0, count - 1))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        setDepth(0);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {depth > 0 && (
        <div className={classes.overlay}>
          <Text size="lg" fw={600}>
            {t('add.dropHere')}
          </Text>
        </div>
      )}
    </div>
  );
}
