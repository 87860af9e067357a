import { ActionIcon, Collapse, Group, Menu, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconChartBar, IconChevronRight, IconDownload, IconTable } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../ui/IconButton.tsx';
import classes from './Section.module.css';
import { toggleFolded, toggleTable, usePanelState } from './panel-state.ts';

interface SectionProps {
  name: string;
  title: string;
  /** The caption of the picture. */
  lead: ReactNode;
  /** The picture's numbers; absent: the section is already a table, or has nothing to show. */
  table?: ReactNode;
  /** Spans all columns of the layout. */
  wide?: boolean;
  onPng?: (() => void) | undefined;
  onCsv?: (() => void) | undefined;
  onJson?: (() => void) | undefined;
  children?: ReactNode;
}

/** A section of the report: a sentence, a picture and its numbers as a table. The collapsed state is persisted. */
export function Section({
  name,
  title,
  lead,
  table,
  wide = false,
  onPng,
  onCsv,
  onJson,
  children,
}: SectionProps) {
  const { t } = useTranslation('fusion');
  const folded = usePanelState((state) => state.folded[name] === true);
  const asTable = usePanelState((state) => state.tables[name] === true);
  const id = useId();
  const TableIcon = asTable ? IconChartBar : IconTable;
  const switchLabel = t(asTable ? 'section.asPicture' : 'section.asTable');
  return (
    <section
      className={`${classes.section ?? ''} ${wide ? (classes.wide ?? '') : ''}`}
      aria-labelledby={`${id}-title`}
    >
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <h3 className={classes.heading}>
          <UnstyledButton
            className={classes.fold}
            aria-expanded={!folded}
            aria-controls={`${id}-body`}
            onClick={() => toggleFolded(name)}
          >
            <IconChevronRight size={16} className={classes.chevron} data-open={!folded} aria-hidden />
            <span id={`${id}-title`}>{title}</span>
          </UnstyledButton>
        </h3>
        {!folded && (
          <Group gap={2} wrap="nowrap">
            {table !== undefined && (
              <IconButton
                label={`${title}: ${switchLabel}`}
                tip={switchLabel}
                aria-pressed={asTable}
                onClick={() => toggleTable(name)}
              >
                <TableIcon size={17} stroke={1.6} />
              </IconButton>
            )}
            {(onPng ?? onCsv) && <ExportMenu title={title} onPng={onPng} onCsv={onCsv} onJson={onJson} />}
          </Group>
        )}
      </Group>
      <div id={`${id}-body`}>
        <Collapse expanded={!folded}>
          <Stack gap={10} p="4px 4px 6px">
            <Text c="dimmed" className={classes.lead}>
              {lead}
            </Text>
            {asTable && table !== undefined ? table : children}
          </Stack>
        </Collapse>
      </div>
    </section>
  );
}

function ExportMenu({
  title,
  onPng,
  onCsv,
  onJson,
}: Pick<SectionProps, 'title' | 'onPng' | 'onCsv' | 'onJson'>) {
  const { t } = useTranslation('fusion');
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon aria-label={t('export.of', { title })}>
          <IconDownload size={17} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {onPng && <Menu.Item onClick={onPng}>{t('export.png')}</Menu.Item>}
        {onCsv && <Menu.Item onClick={onCsv}>{t('export.csv')}</Menu.Item>}
        {onJson && <Menu.Item onClick={onJson}>{t('export.jsonAll')}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
