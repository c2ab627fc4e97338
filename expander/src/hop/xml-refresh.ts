import { collectRefreshes, type MetaRefresh, maxDepth, maxElements } from './meta-refresh.ts';

const xhtml = 'http://www.w3.org/1999/xhtml';

const name = `[^\\s<>&"'=/!?]+`;
const attribute = `\\s+(?:${name})\\s*=\\s*(?:"[^<"]*"|'[^<']*')`;
const comment = '<!--(?:(?!--)[^])*-->';
const instruction = '<\\?(?!xml\\s)(?:(?!\\?>)[^])*\\?>';

/** What comes before the root; `external` if another file may define entities. */
const prolog = new RegExp(
  `^(?:<\\?xml\\s[^?]*\\?>)?(?:\\s|${comment}|${instruction})*` +
    `(?:<!DOCTYPE\\s(?<external>[^[>]*)(?:\\[(?:[^\\]"'<]|"[^"]*"|'[^']*'|${comment}|<!(?!--)|${instruction})*\\]\\s*)?>)?`,
);

/** A piece of an XML document (Extensible Markup Language 1.0, section 2). */
const piece = new RegExp(
  [
    `<(?<start>${name})(?<attributes>(?:${attribute})*)\\s*(?<empty>/?)>`,
    `</(?<ending>${name})\\s*>`,
    `(?<text>(?:(?!\\]\\]>)[^<])+)`,
    comment,
    instruction,
    '<!\\[CDATA\\[[^]*?\\]\\]>',
  ].join('|'),
  'y',
);

/** What is in no document; U+FFFD stands for bytes that are no character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: They are what must not be there.
const impossible = /[\0-\x08\v\f\x0e-\x1f\ufffd]/;

interface Element {
  name: string;
  /** The prefixes that it gives a namespace. */
  prefixes: readonly string[];
  /** Whether it is a template, or in one. */
  isTemplate: boolean;
}

/**
 * Finds the meta elements with `http-equiv="refresh"` in the beginning of an XML document: those of XHTML, as far as the
 * first error. Browsers do the same. Entities that the document defines itself count as errors.
 */
export function findXmlRefreshes(markup: string): MetaRefresh[] {
  const { found, onElement } = collectRefreshes();
  const [text = ''] = markup.split(impossible, 1);
  const before = prolog.exec(text);
  const isExternal = /\s(?:PUBLIC|SYSTEM)\s/.test(before?.groups?.external ?? '');
  const { open, begin, end } = openElements();
  let elements = 0;
  piece.lastIndex = before?.[0].length ?? 0;
  for (let match = piece.exec(text); match; match = piece.exec(text)) {
    const { start, attributes = '', empty, ending, text: characters = '' } = match.groups ?? {};
    if (open.length === 0 ? characters.trim() !== '' : decoded(characters, isExternal) === null) break;
    if (ending !== undefined && end()?.name !== ending) break;
    if (start !== undefined) {
      const values = readAttributes(attributes, isExternal);
      elements += 1;
      if (!values || elements > maxElements || open.length === maxDepth) break;
      const { localName, isTemplate } = begin(start, values);
      if (!isTemplate && localName !== null) onElement(localName, values);
      if (empty === '/') end();
    }
    // Nothing that counts can follow the root.
    if (open.length === 0 && elements > 0) break;
  }
  return found;
}

/** The elements that are open, and the namespaces in them. */
function openElements() {
  const open: Element[] = [];
  /** Of each prefix, the innermost last. */
  const namespaces = new Map<string, string[]>();
  return {
    open,
    /** Opens an element. `localName` is null if it is not of XHTML. */
    begin(name: string, attributes: ReadonlyMap<string, string>) {
      const prefixes: string[] = [];
      for (const [key, namespace] of attributes) {
        const [, declared] = /^xmlns(?::(.+)|$)/.exec(key) ?? [];
        if (declared === undefined && key !== 'xmlns') continue;
        const outer = namespaces.get(declared ?? '') ?? [];
        namespaces.set(declared ?? '', outer);
        outer.push(namespace);
        prefixes.push(declared ?? '');
      }
      const [local = '', prefix = ''] = name.split(':', 2).reverse();
      const localName = namespaces.get(prefix)?.at(-1) === xhtml ? local : null;
      const isTemplate = open.at(-1)?.isTemplate === true || localName === 'template';
      open.push({ name, prefixes, isTemplate });
      return { localName, isTemplate };
    },
    /** Closes the innermost element. */
    end(): Element | undefined {
      const element = open.pop();
      for (const prefix of element?.prefixes ?? []) namespaces.get(prefix)?.pop();
      return element;
    },
  };
}

/** The values of attributes by their names; null if one is there twice, or is no value. */
function readAttributes(text: string, isExternal: boolean): Map<string, string> | null {
  const values = new Map<string, string>();
  for (const [, key = '', quoted = ''] of text.matchAll(
    new RegExp(`(${name})\\s*=\\s*("[^"]*"|'[^']*')`, 'g'),
  )) {
    const value = decoded(quoted.slice(1, -1), isExternal);
    if (value === null || values.has(key)) return null;
    values.set(key, value);
  }
  return values;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** `text` with its references replaced; null if one is none. Entities of another file are left out. */
function decoded(text: string, isExternal: boolean): string | null {
  if (/&(?!(?:#\d{1,7}|#x[\da-fA-F]{1,6}|\w{1,99});)/.test(text)) return null;
  let isValid = true;
  const result = text.replace(/&(?:#(\d+|x[\da-fA-F]+)|(\w+));/g, (_, code?: string, entity = '') => {
    const point = code === undefined ? undefined : Number(code.startsWith('x') ? `0${code}` : code);
    if (point !== undefined && point <= 0x10_ffff) return String.fromCodePoint(point);
    isValid &&= Object.hasOwn(entities, entity) || (isExternal && entity !== '');
    return entities[entity] ?? '';
  });
  return isValid ? result : null;
}
