import 'pdfjs-dist/legacy/web/pdf_viewer.css';
import * as pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import workerUrl from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url';
import type { EventBus, PDFViewer } from 'pdfjs-dist/legacy/web/pdf_viewer.mjs';
import type { PageLines } from '../../../../../src-shared/contract/libraries.ts';
import { markLines } from './mark-lines.ts';
import { markWords } from './mark-words.ts';

/** Bytes of the first request; pdf.js asks for others by itself. */
const HEAD_BYTES = 65_536;

export interface PagePassage {
  /** From 1. */
  page: number;
  /** The passage's part on the page. */
  text: string;
  /** Its place on the page, from 0 to 1. */
  near: number;
  /** Its lines, where the page is a picture. */
  lines: PageLines['lines'];
}

/** The pages of a PDF in an element, with passages marked. */
export class PdfPages {
  readonly #loading: pdfjs.PDFDocumentLoadingTask;
  readonly #viewer: PDFViewer;
  readonly #abort: AbortController;

  private constructor(loading: pdfjs.PDFDocumentLoadingTask, viewer: PDFViewer, abort: AbortController) {
    this.#loading = loading;
    this.#viewer = viewer;
    this.#abort = abort;
  }

  /** Rejects when the file cannot be shown. `container` is positioned absolutely, and has one element. */
  static async open(
    url: string,
    container: HTMLDivElement,
    passages: readonly PagePassage[],
    onPage: (page: number, pages: number) => void,
  ): Promise<PdfPages> {
    const { EventBus: Bus, LinkTarget, PDFLinkService, PDFViewer: Viewer } = await loadViewer();
    const abort = new AbortController();
    const loading = await load(url, abort.signal);
    const eventBus: EventBus = new Bus();
    const linkService = new PDFLinkService({
      eventBus,
      externalLinkTarget: LinkTarget.BLANK,
      externalLinkRel: 'noopener noreferrer nofollow',
    });
    const viewer: PDFViewer = new Viewer({
      container,
      eventBus,
      linkService,
      annotationMode: pdfjs.AnnotationMode.ENABLE,
      annotationEditorMode: pdfjs.AnnotationEditorType.DISABLE,
    });
    linkService.setViewer(viewer);
    const pages = new PdfPages(loading, viewer, abort);
    try {
      const document = await loading.promise;
      pages.#mark(eventBus, passages);
      eventBus.on('pagesinit', () => {
        viewer.currentScaleValue = 'auto';
        if (passages[0]) viewer.currentPageNumber = passages[0].page;
        onPage(viewer.currentPageNumber, document.numPages);
      });
      eventBus.on('pagechanging', ({ pageNumber }: { pageNumber: number }) =>
        onPage(pageNumber, document.numPages),
      );
      linkService.setDocument(document);
      viewer.setDocument(document);
      return pages;
    } catch (error) {
      pages.close();
      throw error;
    }
  }

  goTo(page: number): void {
    this.#viewer.currentPageNumber = page;
  }

  zoom(steps: number): void {
    this.#viewer.updateScale({ steps });
  }

  fitWidth(): void {
    this.#viewer.currentScaleValue = 'page-width';
  }

  close(): void {
    this.#abort.abort();
    this.#viewer.cleanup();
    void this.#loading.destroy();
  }

  /** Marks the passages where pages are drawn, and shows the first. */
  #mark(eventBus: EventBus, passages: readonly PagePassage[]): void {
    let isShown = false;
    eventBus.on('textlayerrendered', ({ pageNumber }: { pageNumber: number }) => {
      const passage = passages.find(({ page }) => page === pageNumber);
      const view = this.#viewer.getPageView(pageNumber - 1) as { div?: HTMLElement } | undefined;
      const layer = view?.div?.querySelector<HTMLElement>('.textLayer');
      if (!passage || !layer) return;
      const first =
        layer.querySelector('mark') ??
        markWords(layer, passage.text, passage.near) ??
        markLines(layer, passage.lines);
      if (!first || isShown || passage !== passages[0]) return;
      isShown = true;
      first.scrollIntoView({ block: 'center' });
    });
  }
}

/** Only what is shown is loaded: a file may have hundreds of megabytes. */
async function load(url: string, signal: AbortSignal): Promise<pdfjs.PDFDocumentLoadingTask> {
  pdfjs.GlobalWorkerOptions.workerSrc = workerUrl;
  const head = await fetch(url, { headers: { Range: `bytes=0-${HEAD_BYTES - 1}` }, signal });
  if (!head.ok) throw new Error(`The file was answered with status ${head.status}.`);
  const initial = new Uint8Array(await head.arrayBuffer());
  const total = Number(head.headers.get('content-range')?.split('/')[1] ?? initial.length);
  const assets = new URL('pdfjs/', location.href.split('#')[0]).href;
  return pdfjs.getDocument({
    range: new FileRange(total, initial, url, signal),
    rangeChunkSize: HEAD_BYTES,
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    // The standard fonts look the same on every machine.
    useSystemFonts: false,
    cMapUrl: `${assets}cmaps/`,
    standardFontDataUrl: `${assets}standard_fonts/`,
    wasmUrl: `${assets}wasm/`,
  });
}

class FileRange extends pdfjs.PDFDataRangeTransport {
  readonly #url: string;
  readonly #signal: AbortSignal;

  constructor(length: number, initial: Uint8Array, url: string, signal: AbortSignal) {
    super(length, initial);
    this.#url = url;
    this.#signal = signal;
  }

  override requestDataRange(begin: number, end: number): void {
    fetch(this.#url, { headers: { Range: `bytes=${begin}-${end - 1}` }, signal: this.#signal })
      .then(async (part) => this.onDataRange(begin, new Uint8Array(await part.arrayBuffer())))
      .catch(() => undefined); // closed, or the page stays empty
  }
}

/** The viewer takes the library from a global. */
function loadViewer() {
  Object.assign(globalThis, { pdfjsLib: pdfjs });
  return import('pdfjs-dist/legacy/web/pdf_viewer.mjs');
}
