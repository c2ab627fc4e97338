import {
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  html,
  Parser,
  type Token,
  type TreeAdapter,
} from 'parse5';

/** A meta element that sends the visitors of its page on. */
export interface MetaRefresh {
  kind: 'meta';
  /** Its `content`. */
  content: string;
  /** The `href` of the first `<base>` before it. */
  base: string | null;
}

/** Characters of a page with something to read. */
export const readable = 200;

/** What the head of a page says to visitors. */
export interface HtmlFacts {
  /** The meta elements that refresh, in their order. */
  refreshes: MetaRefresh[];
  /** The text of the first title, as written; null without one. */
  title: string | null;
  /** The scripts that run. */
  scripts: string[];
  /** The values of event attributes. */
  handlers: string[];
  /** Visible characters, without white space. The count stops at `readable`. */
  visible: number;
  /** Whether a limit was reached, so that a browser would find more. */
  isCut: boolean;
}

/** Open elements, as in browsers, and elements in all: without limits, markup of 64 KiB would become gigabytes of tree. */
const maxDepth = 512;
const maxElements = 10_000;

/**
 * Finds the title and the meta elements with `http-equiv="refresh"` in the beginning of an HTML page, by the parsing
 * algorithm of the HTML standard: elements in comments, scripts, text areas and templates do not count. Scripting
 * counts as on, so `<noscript>` is text. Reads until a limit is reached.
 */
export function readHtml(markup: string): HtmlFacts {
  const facts: HtmlFacts = {
    refreshes: [],
    title: null,
    scripts: [],
    handlers: [],
    visible: 0,
    isCut: false,
  };
  const parser = new HtmlParser({ treeAdapter: collecting(facts), scriptingEnabled: true });
  try {
    // Not the last piece of the page: a tag that is cut off does not count.
    parser.tokenizer.write(markup, false);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    facts.isCut = true;
  }
  return facts;
}

class LimitReached extends Error {}

/** In browsers, and in the HTML standard since 2025, elements in a `<select>` are parsed like others; parse5 does not do so yet. */
class HtmlParser extends Parser<DefaultTreeAdapterMap> {
  override onStartTag(token: Token.TagToken) {
    super.onStartTag(withoutMode(token));
  }

  override onEndTag(token: Token.TagToken) {
    super.onEndTag(withoutMode(token));
  }
}

function withoutMode(token: Token.TagToken): Token.TagToken {
  if (token.tagID === html.TAG_ID.SELECT) token.tagID = html.TAG_ID.UNKNOWN;
  return token;
}

/** The values of `type` with which a script runs (HTML standard, "prepare the script element"). */
const runningType =
  /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:jscript|livescript|javascript1\.[0-5]))$/i;

const hidden = new Set(['script', 'style', 'title', 'noscript', 'iframe', 'noembed', 'noframes']);

function isShown(parent: DefaultTreeAdapterMap['parentNode']): boolean {
  return 'tagName' in parent && !hidden.has(parent.tagName);
}

type Adapter = TreeAdapter<DefaultTreeAdapterMap>;

/** Builds only the parents that the algorithm needs, not a tree, and collects `facts` from elements outside of templates. */
function collecting(facts: HtmlFacts): Adapter {
  let base: string | null = null;
  let firstTitle: DefaultTreeAdapterMap['element'] | undefined;
  let script: DefaultTreeAdapterMap['element'] | undefined;
  let [elements, depth] = [0, 0];
  const limit = (count: number, max: number) => {
    if (count > max) throw new LimitReached();
  };
  const setParent: Adapter['appendChild'] = (parent, node) => {
    node.parentNode = parent;
  };
  return {
    ...defaultTreeAdapter,
    onElementCreated(element, { isInTemplate }) {
      elements += 1;
      limit(elements, maxElements);
      const { tagName, namespaceURI, attrs } = element;
      if (isInTemplate || namespaceURI !== html.NS.HTML) return;
      const attribute = (name: string) => attrs.find((attr) => attr.name === name)?.value;
      if (tagName === 'base') base ??= attribute('href') ?? null;
      if (tagName === 'title') firstTitle ??= element;
      if (tagName === 'script' && runningType.test(attribute('type')?.trim() ?? '')) {
        script = element;
        facts.scripts.push('');
      }
      for (const { name, value } of attrs) if (name.startsWith('on')) facts.handlers.push(value);
      const content = attribute('content');
      if (tagName === 'meta' && content && /^refresh$/i.test(attribute('http-equiv') ?? '')) {
        facts.refreshes.push({ kind: 'meta', content, base });
      }
    },
    onItemPush() {
      depth += 1;
      limit(depth, maxDepth);
    },
    onItemPop() {
      depth -= 1;
    },
    appendChild: setParent,
    insertBefore: setParent,
    detachNode(node) {
      node.parentNode = null;
    },
    insertText(element, text) {
      if (element === firstTitle) facts.title = (facts.title ?? '') + text;
      if (element === script) facts.scripts.push((facts.scripts.pop() ?? '') + text);
      if (facts.visible < readable && isShown(element)) facts.visible += text.replace(/\s+/g, '').length;
    },
    insertTextBefore() {},
  };
}
