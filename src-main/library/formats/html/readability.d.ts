/** The DOM that Readability's authors made for it: no scripts, nothing is loaded. The package has no types for it. */
declare module '@mozilla/readability/JSDOMParser.js' {
  /** As much of a node as is used here. */
  export interface PlainNode {
    /** 1: an element, 3: text. */
    readonly nodeType: number;
    readonly childNodes: readonly PlainNode[];
    readonly textContent: string;
    getAttribute(name: string): string | null;
  }
  export default class JSDOMParser {
    /** Well-formed markup only. */
    parse(markup: string): ConstructorParameters<typeof import('@mozilla/readability').Readability>[0];
  }
}
