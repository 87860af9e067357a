export * as en from './en/index.ts';

/** The same keys with other texts, for a language without a singular: Chinese has only the plural form `_other`. */
export type Words<T> = {
  readonly [K in keyof T as K extends `${string}_one` ? never : K]: T[K] extends string
    ? string
    : Words<T[K]>;
};
