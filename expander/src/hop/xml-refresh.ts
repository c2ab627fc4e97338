import { SaxesParser } from 'saxes';
import { collectFacts, maxDepth, maxElements, type PageFacts } from './meta-refresh.ts';

const xhtml = 'http://www.w3.org/1999/xhtml';

/** Whether a document type names another file, which may define entities. */
const namesFile = /^[^[]*\s(?:PUBLIC|SYSTEM)\s/;

class Stop extends Error {}

/**
 * Finds the title and the meta elements with `http-equiv="refresh"` in the beginning of an XML document: those of XHTML,
 * as far as the first error. Browsers do the same. Entities that the document defines itself count as errors.
 */
export function readXml(markup: string): PageFacts {
  const { facts, onElement, onText } = collectFacts();
  // To browsers, a prefix that is not declared is no error.
  const parser = new SaxesParser({ xmlns: true, position: false, resolvePrefix: (prefix: string) => prefix });
  let [elements, depth, templates] = [0, 0, 0];
  let open: object = {};
  const stop = () => {
    throw new Stop();
  };
  parser.on('error', stop);
  parser.on('doctype', (type) => {
    if (namesFile.test(type)) parser.ENTITIES = withUnknown(parser.ENTITIES);
  });
  parser.on('opentag', (tag) => {
    const { uri, local, attributes } = tag;
    open = tag;
    elements += 1;
    depth += 1;
    if (elements > maxElements || depth > maxDepth) stop();
    if (uri !== xhtml) return;
    if (local === 'template') templates += 1;
    if (templates > 0) return;
    onElement(local, new Map(Object.values(attributes).map(({ name, value }) => [name, value])), tag);
  });
  parser.on('text', (text) => onText(open, text));
  parser.on('closetag', ({ uri, local }) => {
    open = {};
    depth -= 1;
    if (uri === xhtml && local === 'template') templates -= 1;
    // Nothing that counts can follow the root.
    if (depth === 0) stop();
  });
  try {
    // U+FFFD stands for bytes that are no character.
    parser.write(markup.split('\ufffd', 1)[0] ?? '');
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  return facts;
}

/** Entities of which those of another file are empty. */
function withUnknown(entities: Record<string, string>): Record<string, string> {
  return new Proxy(entities, { get: (known, name: string) => known[name] ?? '' });
}
