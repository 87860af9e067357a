/** Lists of words by ISO 639-3 code; the package comes without types. */
declare module 'stopword' {
  export const dan: string[];
  export const deu: string[];
  export const eng: string[];
  export const fin: string[];
  export const fra: string[];
  export const ita: string[];
  export const nld: string[];
  export const por: string[];
  export const rus: string[];
  export const spa: string[];
  export const swe: string[];
}
