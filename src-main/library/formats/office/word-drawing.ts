import { attribute, descendants, element, elements, textOf, type XmlElement } from '../xml.ts';
import { pictureText } from '../pictures.ts';
import { paragraphsOf } from './drawings.ts';

/** What a drawing shows: text, a box with blocks of its own, or something that is left out and counted. */
export type Drawn = { text: string } | { box: XmlElement } | { remark: string };

/** Text boxes, charts, diagrams, decorative text and descriptions of pictures of a drawing, each once. `texts`: of charts and diagrams, by relationship. */
export function drawnContents(drawing: XmlElement, texts: ReadonlyMap<string, string>): Drawn[] {
  const properties = descendants(drawing, 'docPr')[0];
  if (properties && attribute(properties, 'hidden') === '1') return [{ remark: 'drawing' }];
  const about = element(drawing, 'docPr');
  const description = about && descendants(drawing, 'pic').length > 0 ? described(about, 'descr') : [];
  const inner = elements(drawing).flatMap((child): Drawn[] => {
    switch (child.name) {
      case 'AlternateContent':
        return drawnContents(chosenOf(child), texts);
      case 'txbxContent':
        return [{ box: child }];
      case 'txBody':
        return [{ text: paragraphsOf(child).join('\n') }];
      case 'chart':
        return [drawnText(texts.get(attribute(child, 'id') ?? ''), 'chart')];
      case 'relIds':
        return [drawnText(texts.get(attribute(child, 'dm') ?? ''), 'diagram')];
      case 'pic':
        return described(descendants(child, 'cNvPr')[0], 'descr');
      case 'imagedata':
        return described(drawing, 'alt');
      case 'textpath':
        return [{ text: attribute(child, 'string') ?? '' }];
      case 'OLEObject':
        return [{ remark: `object:${attribute(child, 'ProgID') ?? 'unknown'}` }];
      default:
        return drawnContents(child, texts);
    }
  });
  const isNew = (drawn: Drawn): boolean => !('text' in drawn) || drawn.text !== description[0]?.text;
  return [...description, ...inner.filter(isNew)];
}

function described(properties: XmlElement | undefined, name: string): { text: string }[] {
  const text = pictureText(properties && attribute(properties, name));
  return text === '' ? [] : [{ text }];
}

function drawnText(text: string | undefined, kind: string): Drawn {
  return text === undefined || text === '' ? { remark: kind } : { text };
}

/** Of the alternatives for programs old and new, the first that has text (ECMA-376 part 3, 7.6). They say the same. */
export function chosenOf(alternatives: XmlElement): XmlElement {
  const choice = element(alternatives, 'Choice');
  const names = ['txbxContent', 'chart', 'relIds', 't', 'p', 'oMath'];
  const isUseful =
    choice && (textOf(choice).trim() !== '' || names.some((name) => descendants(choice, name).length > 0));
  return (isUseful ? choice : (element(alternatives, 'Fallback') ?? choice)) ?? alternatives;
}
