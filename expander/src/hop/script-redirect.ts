import { type HtmlFacts, readable } from './meta-refresh.ts';

/** What scripts say that send a visitor on. */
const leading = /\blocation\b|navigat|\b(?:open|submit|click)\s*\(|document\s*\.\s*write/;

/** The tokens that matter here: comments, strings, braces, and assignments to the location. */
const tokens =
  /\/\*.*?(?:\*\/|$)|\/\/[^\n]*|(["'`])(?:\\.|(?!\1)[^\\])*(?:\1|$)|([{}])|(?<![\w$.])(?:(?:window|document|self)\s*\.\s*)?(location\s*(?:\.\s*(?:assign|replace)\s*\(|(?:\.\s*href\s*)?=(?![=>])))/gs;

/** Tokens that are examined in one page: this takes 2 ms. */
const maxTokens = 4_000;

/**
 * Whether a page may send its visitors on by script: it shows little and names a way, or sets the location outside all braces.
 * That is a hint, because parsing the scripts would take too long.
 */
export function mayLeadOn({ scripts, handlers, visible }: HtmlFacts): boolean {
  if (visible < readable && [...scripts, ...handlers].some((script) => leading.test(script))) return true;
  let left = maxTokens;
  for (const script of scripts.filter((text) => text.includes('location'))) {
    let depth = 0;
    for (const [, , brace, sets] of script.matchAll(tokens)) {
      if (brace) depth += brace === '{' ? 1 : -1;
      if (sets && depth === 0) return true;
      left -= 1;
      if (left === 0) return false;
    }
  }
  return false;
}
