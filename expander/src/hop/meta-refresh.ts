import {
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  html,
  Parser,
  type Token,
  type TreeAdapter,
} from 'parse5';
import { type ReferrerPolicy, readMetaReferrer } from '../expansion/referrer.ts';

/** A `<meta http-equiv="refresh">` element. */
export interface MetaRefresh {
  kind: 'meta';
  content: string;
  /** The `href` of the first `<base>` before this element. */
  base: string | null;
}

/** Minimum visible characters of a page with enough text to read. */
export const readable = 200;

const noFacts = () => ({
  refreshes: [] as MetaRefresh[],
  /** Text of the first title; null if the page has no title. */
  title: null as string | null,
  /** The policy of the last `<meta name="referrer">`. */
  referrerPolicy: null as ReferrerPolicy | null,
  /** Source code of executable scripts; empty for external scripts. */
  scripts: [] as string[],
  /** Whether the page has event attributes, frames, plug-ins or scripts in SVG, which can run code. */
  isActive: false,
  /** Whether a style sheet turns the page, if it is XML, into another page (XSLT). */
  isTransformed: false,
  /** Number of visible characters, without white space. Counting stops at `readable`. */
  visible: 0,
  /** Whether parsing stopped because the page exceeded a limit. */
  isCut: false,
});

export type HtmlFacts = ReturnType<typeof noFacts>;

/**
 * Maximum elements, and maximum sum of their depths, because the parser searches the open elements for each tag (4 ms). Without limits,
 * 64 KiB of markup could take gigabytes of memory.
 */
const maxElements = 10_000;
const maxDepths = 4_000_000;

/**
 * Finds the title, refreshes and scripts at the start of an HTML page. Like browsers, it ignores elements in comments, scripts,
 * text areas and templates. Scripting is enabled, so the content of `<noscript>` is text.
 */
export function readHtml(markup: string): HtmlFacts {
  const facts = noFacts();
  const parser = new HtmlParser({ treeAdapter: collecting(facts), scriptingEnabled: true });
  try {
    // `false` means that more may follow, so the parser ignores an incomplete tag.
    parser.tokenizer.write(markup, false);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    facts.isCut = true;
  }
  return facts;
}

class LimitReached extends Error {}

/** Parses elements in a `<select>`, as browsers and the HTML standard do since 2025. parse5 would ignore these elements. */
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

/** Matches the types of scripts that browsers run (HTML standard, "prepare the script element"). */
const runningType =
  /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:jscript|livescript|javascript1\.[0-5]))$/i;

/** Elements that show another document. */
const frames = new Set(['iframe', 'frame', 'object', 'embed', 'portal', 'fencedframe']);

/** Elements whose text is not visible: it is code, a name, or shown only where the element does not work. */
const hidden = new Set(
  'script style title noscript iframe noembed noframes template datalist audio video canvas object desc metadata'.split(
    ' ',
  ),
);

/** Matches an inline style that hides an element. */
const hiding =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:[a-z]{2,3}|%)?\s*(?:;|!|$))/i;

type Adapter = TreeAdapter<DefaultTreeAdapterMap>;

/**
 * Creates a tree adapter that collects `facts` outside templates. Nodes have only parent links, because the parser needs
 * nothing else.
 */
function collecting(facts: HtmlFacts): Adapter {
  let base: string | null = null;
  let firstTitle: DefaultTreeAdapterMap['element'] | undefined;
  let script: DefaultTreeAdapterMap['element'] | undefined;
  let elements = 0;
  let depth = 0;
  let depths = 0;
  const limit = (count: number, max: number) => {
    if (count > max) throw new LimitReached();
  };
  const invisible = new WeakSet<object>();
  const setParent: Adapter['appendChild'] = (parent, node) => {
    node.parentNode = parent;
    if (invisible.has(parent)) invisible.add(node);
  };
  return {
    ...defaultTreeAdapter,
    onElementCreated(element, { isInTemplate }) {
      elements += 1;
      limit(elements, maxElements);
      const { tagName, namespaceURI, attrs } = element;
      const attribute = (name: string) => attrs.find((attr) => attr.name === name)?.value;
      const isHidden =
        hidden.has(tagName) || attribute('hidden') !== undefined || hiding.test(attribute('style') ?? '');
      if (isHidden) invisible.add(element);
      if (isInTemplate) return;
      const isScript = namespaceURI !== html.NS.HTML && tagName === 'script';
      if (isScript || frames.has(tagName) || attrs.some(({ name }) => name.startsWith('on')))
        facts.isActive = true;
      if (namespaceURI !== html.NS.HTML) return;
      if (tagName === 'base') base ??= attribute('href') ?? null;
      if (tagName === 'title') firstTitle ??= element;
      if (tagName === 'script' && runningType.test(attribute('type')?.trim() ?? '')) {
        script = element;
        facts.scripts.push('');
      }
      const content = attribute('content');
      if (tagName === 'meta' && content && /^refresh$/i.test(attribute('http-equiv') ?? '')) {
        facts.refreshes.push({ kind: 'meta', content, base });
      }
      if (tagName === 'meta' && content && /^referrer$/i.test(attribute('name') ?? ''))
        facts.referrerPolicy = readMetaReferrer(content) ?? facts.referrerPolicy;
    },
    createCommentNode(data) {
      // The HTML parser reads a processing instruction as a comment.
      if (/^\?xml-stylesheet\s(?!.*text\/css)/s.test(data)) facts.isTransformed = true;
      return defaultTreeAdapter.createCommentNode(data);
    },
    onItemPush() {
      depth += 1;
      depths += depth;
      limit(depths, maxDepths);
    },
    onItemPop() {
      depth -= 1;
    },
    setTemplateContent(template, content) {
      invisible.add(content);
      defaultTreeAdapter.setTemplateContent(template, content);
    },
    appendChild: setParent,
    insertBefore: setParent,
    detachNode(node) {
      node.parentNode = null;
    },
    insertText(element, text) {
      if (element === firstTitle) facts.title = (facts.title ?? '') + text;
      if (element === script) facts.scripts.push((facts.scripts.pop() ?? '') + text);
      const isShown = 'tagName' in element && !invisible.has(element);
      if (facts.visible < readable && isShown) facts.visible += text.replace(/\s+/g, '').length;
    },
    insertTextBefore() {},
  };
}
