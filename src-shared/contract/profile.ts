import type { SettingsInput } from '../settings.ts';

/** A client's own model and settings; what is absent is as in the window, the model the demo model. */
export interface ProfileInput {
  /** Path of a GGUF, or a model on a server: its name in the list, or address#model. */
  model?: string | undefined;
  /** Path of a LoRA adapter. */
  adapter?: string | undefined;
  /** Overrides of settings. */
  settings?: Partial<SettingsInput>;
}
