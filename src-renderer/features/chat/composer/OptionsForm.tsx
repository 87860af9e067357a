import { Button, Group, MultiSelect, NumberInput, Radio, Slider, Stack, Switch, Text } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import type { Settings } from '../../../../src-shared/settings.ts';
import { STRATEGY_REQUESTS, takesRatio, type StrategyRequest } from '../../../../src-shared/strategy.ts';
import { useCall } from '../../../client/context.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { NO_OPTIONS } from '../chat-state.ts';

export interface OptionsProps {
  options: ConversationOptions;
  onChange: (options: ConversationOptions) => void;
}

/** The options a conversation can override, basic ones first; unset options follow the settings. */
export function OptionsForm({ title, options, onChange }: OptionsProps & { title: string }) {
  const { t } = useTranslation(['chat', 'settings']);
  const { data: settings } = useCall('settings.get');
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text size="md" fw={600}>
          {title}
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => onChange({ ...NO_OPTIONS, tools: options.tools })}
        >
          {t('options.reset')}
        </Button>
      </Group>
      <ScopeChoice options={options} onChange={onChange} />
      {settings && (
        <Switch
          label={t('settings:answers.strict')}
          description={t('options.strictHelp')}
          checked={options.strict ?? settings.strict ?? true}
          onChange={({ currentTarget }) => onChange({ ...options, strict: currentTarget.checked })}
        />
      )}
      <Passages options={options} fallback={settings?.topK} onChange={onChange} />
      <Count
        label={t('options.maxTokens')}
        unit={t('options.tokens')}
        value={options.maxTokens}
        fallback={settings?.maxTokens}
        max={65_536}
        onChange={(maxTokens) => onChange({ ...options, maxTokens })}
      />
      {settings && (
        <Switch
          label={t('settings:answers.think')}
          description={t('options.thinkHelp')}
          checked={options.think ?? settings.think}
          onChange={({ currentTarget }) => onChange({ ...options, think: currentTarget.checked })}
        />
      )}
      {settings && <Advanced options={options} settings={settings} onChange={onChange} />}
    </Stack>
  );
}

/** Number of passages: automatic or fixed. */
function Passages({ options, fallback, onChange }: OptionsProps & { fallback: number | undefined }) {
  const { t } = useTranslation('chat');
  const automatic = (options.topK ?? fallback) === undefined;
  const first = 6;
  return (
    <Stack gap={6}>
      <Switch
        label={t('options.topKAutomatic')}
        checked={automatic}
        // A conversation cannot undo a number set in the settings.
        disabled={fallback !== undefined}
        onChange={({ currentTarget }) =>
          onChange({ ...options, topK: currentTarget.checked ? undefined : first })
        }
      />
      {!automatic && (
        <Count
          label={t('options.topK')}
          value={options.topK}
          fallback={fallback}
          max={256}
          onChange={(topK) => onChange({ ...options, topK })}
        />
      )}
    </Stack>
  );
}

/** Advanced options for users familiar with blending and sampling. */
function Advanced({ options, settings, onChange }: OptionsProps & { settings: Settings }) {
  const { t } = useTranslation('chat');
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        ml={-8}
        aria-expanded={open}
        aria-controls={id}
        leftSection={open ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
        onClick={() => setOpen(!open)}
      >
        {t('options.advanced')}
      </Button>
      <Stack id={id} gap="md" mt="xs" display={open ? undefined : 'none'}>
        <StrategyFields
          strategy={options.strategy ?? settings.strategy}
          onChange={(strategy) => onChange({ ...options, strategy })}
        />
        <Dial
          label={t('options.temperature')}
          help={t('options.temperatureHelp')}
          value={options.temperature ?? settings.temperature ?? 0}
          max={2}
          step={0.1}
          show={(value) => value.toFixed(1)}
          onChange={(temperature) => onChange({ ...options, temperature })}
        />
      </Stack>
    </div>
  );
}

function ScopeChoice({ options, onChange }: OptionsProps) {
  const { t } = useTranslation(['chat', 'common']);
  const { data: libraries = [] } = useCall('libraries.list');
  const { scope } = options;
  if (scope.documentIds.length > 0) {
    return (
      <Group justify="space-between">
        <Text>{t('options.documents', { count: scope.documentIds.length })}</Text>
        <Button
          size="compact-xs"
          variant="light"
          onClick={() => onChange({ ...options, scope: { ...scope, documentIds: [] } })}
        >
          {t('options.allDocuments')}
        </Button>
      </Group>
    );
  }
  return (
    <MultiSelect
      label={t('options.libraries')}
      placeholder={scope.libraryIds.length === 0 ? t('common:allLibraries') : ''}
      data={libraries.map(({ id, name }) => ({ value: id, label: name }))}
      value={scope.libraryIds}
      comboboxProps={{ withinPortal: false }}
      clearable
      onChange={(libraryIds) => onChange({ ...options, scope: { ...scope, libraryIds } })}
    />
  );
}

function StrategyFields({
  strategy,
  onChange,
}: {
  strategy: StrategyRequest;
  onChange: (strategy: StrategyRequest) => void;
}) {
  const { t } = useTranslation(['chat', 'strategies', 'settings']);
  const format = useFormat();
  return (
    <>
      <Radio.Group
        label={t('settings:answers.strategy')}
        value={strategy.name}
        onChange={(value) => {
          const name = STRATEGY_REQUESTS.find((known) => known === value);
          if (name) onChange({ ...strategy, name });
        }}
      >
        <Stack gap={8} mt={6}>
          {STRATEGY_REQUESTS.map((name) => (
            <Radio
              key={name}
              value={name}
              size="sm"
              label={t(`strategies:${name}.name`)}
              description={t(`strategies:${name}.help`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {takesRatio(strategy.name) && (
        <Dial
          label={t('options.ratio')}
          help={t('settings:answers.ratioHelp')}
          value={strategy.ratio}
          max={1}
          step={0.01}
          show={(value) => format.percent(value)}
          onChange={(ratio) => onChange({ ...strategy, ratio })}
        />
      )}
    </>
  );
}

/** A number saved on blur; empty means the settings' value. */
function Count({
  label,
  unit,
  value,
  fallback,
  max,
  onChange,
}: {
  label: string;
  unit?: string;
  value: number | undefined;
  fallback: number | string | undefined;
  max: number;
  onChange: (value: number | undefined) => void;
}) {
  const [draft, setDraft] = useState<number | string>();
  const keep = (): void => {
    if (draft === undefined) return;
    setDraft(undefined);
    if (draft === '') onChange(undefined);
    else if (typeof draft === 'number') onChange(Math.min(max, Math.max(1, Math.round(draft))));
  };
  return (
    <NumberInput
      label={label}
      placeholder={[fallback, unit].filter((word) => word !== undefined).join(' ')}
      {...(unit !== undefined && { suffix: ` ${unit}` })}
      value={draft ?? value ?? ''}
      min={1}
      max={max}
      allowDecimal={false}
      onChange={setDraft}
      onBlur={keep}
      onKeyDown={({ key }) => key === 'Enter' && keep()}
    />
  );
}

/** A slider that shows its value and saves it on release. */
function Dial({
  label,
  help,
  value,
  max,
  step,
  show,
  onChange,
}: {
  label: string;
  help: string;
  value: number;
  max: number;
  step: number;
  show: (value: number) => string;
  onChange: (value: number) => void;
}) {
  const [draft, setDraft] = useState<number>();
  const shown = draft ?? value;
  return (
    <div>
      <Group justify="space-between">
        <Text fw={500}>{label}</Text>
        <Text>{show(shown)}</Text>
      </Group>
      <Slider
        thumbLabel={label}
        value={shown}
        min={0}
        max={max}
        step={step}
        label={null}
        onChange={setDraft}
        onChangeEnd={(end) => {
          setDraft(undefined);
          onChange(end);
        }}
      />
      <Subtext mt={4}>{help}</Subtext>
    </div>
  );
}
