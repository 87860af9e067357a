import { Input, Select, Slider, Switch } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../../src-shared/settings.ts';
import { DEFAULT_RATIO, STRATEGY_REQUESTS, takesRatio } from '../../../src-shared/strategy.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { NumberSetting } from './NumberSetting.tsx';
import { TextSetting } from './TextSetting.tsx';
import { useChange } from './useChange.ts';
import { joinSentences } from '../../i18n/join-sentences.ts';

/** Initial value when the automatic choice is turned off. */
const FIRST_OWN_TOP_K = 6;

export function AnswersSection({ settings }: { settings: Settings }) {
  const { t } = useTranslation(['settings', 'strategies']);
  const change = useChange();
  const { strategy } = settings;
  return (
    <>
      <Select
        label={t('answers.strategy')}
        description={joinSentences([t(`strategies:${strategy.name}.help`), t('answers.strategyHelp')])}
        value={strategy.name}
        allowDeselect={false}
        data={STRATEGY_REQUESTS.map((value) => ({ value, label: t(`strategies:${value}.name`) }))}
        onChange={(name) => name && change({ strategy: { ...strategy, name } })}
      />
      {takesRatio(strategy.name) && (
        <RatioSlider
          ratio={strategy.ratio}
          onChange={(ratio) => change({ strategy: { ...strategy, ratio } })}
        />
      )}
      <Switch
        label={t('answers.watchAnswers')}
        description={t('answers.watchAnswersHelp')}
        checked={settings.watchAnswers}
        onChange={({ currentTarget }) => change({ watchAnswers: currentTarget.checked })}
      />
      <Switch
        label={t('answers.strict')}
        description={t('answers.strictHelp')}
        checked={settings.strict ?? true}
        onChange={({ currentTarget }) => change({ strict: currentTarget.checked })}
      />
      <Switch
        label={t('answers.think')}
        description={t('answers.thinkHelp')}
        checked={settings.think}
        onChange={({ currentTarget }) => change({ think: currentTarget.checked })}
      />
      <Switch
        label={t('answers.automaticTopK')}
        description={t('answers.topKHelp')}
        checked={settings.topK === undefined}
        onChange={({ currentTarget }) => change({ topK: currentTarget.checked ? null : FIRST_OWN_TOP_K })}
      />
      {settings.topK !== undefined && (
        <NumberSetting
          label={t('answers.topK')}
          value={settings.topK}
          min={1}
          max={256}
          onChange={(topK) => change({ topK })}
        />
      )}
      <NumberSetting
        label={t('answers.maxTokens')}
        value={settings.maxTokens}
        min={1}
        max={65_536}
        step={64}
        onChange={(maxTokens) => change({ maxTokens })}
      />
      <NumberSetting
        label={t('answers.contextTokens')}
        description={t('answers.contextHelp')}
        value={settings.contextTokens}
        min={64}
        max={4_194_304}
        step={1024}
        onChange={(contextTokens) => change({ contextTokens })}
      />
      <TextSetting
        label={t('answers.systemPrompt')}
        description={t('answers.systemPromptHelp')}
        minRows={3}
        maxLength={16_384}
        text={settings.systemPrompt}
        onChange={(systemPrompt) => change({ systemPrompt })}
      />
    </>
  );
}

function RatioSlider({ ratio, onChange }: { ratio: number; onChange: (ratio: number) => void }) {
  const { t } = useTranslation('settings');
  const format = useFormat();
  const [draft, setDraft] = useState<number>();
  const marks = [0, 0.1, DEFAULT_RATIO, 0.3, 0.5, 1];
  return (
    <Input.Wrapper
      label={`${t('answers.ratio')}: ${format.percent(draft ?? ratio)}`}
      description={t('answers.ratioHelp')}
      labelElement="div"
      pb="md"
    >
      <Slider
        mt="sm"
        min={0}
        max={1}
        step={0.01}
        value={draft ?? ratio}
        label={(value) => format.percent(value)}
        thumbLabel={t('answers.ratio')}
        marks={marks.map((value) => ({ value, label: format.percent(value) }))}
        onChange={setDraft}
        onChangeEnd={(value) => {
          setDraft(undefined);
          onChange(value);
        }}
      />
    </Input.Wrapper>
  );
}
