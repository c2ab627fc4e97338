/** What a script consists of, as far as it matters here: comments, strings, braces, and where it sets its location. */
const tokens =
  /\/\*.*?(?:\*\/|$)|\/\/[^\n]*|(["'`])(?:\\.|(?!\1)[^\\])*(?:\1|$)|([{}])|(?<![\w$.])(?:(?:window|document|self)\s*\.\s*)?(location\s*(?:\.\s*(?:assign|replace)\s*\(|(?:\.\s*href\s*)?=(?![=>])))/gs;

/** Tokens that are looked at in one page: 2 ms. */
const maxTokens = 4_000;

/**
 * Whether one of a page's scripts sets its location outside of all braces, and so, probably, as soon as it runs. Scripts
 * are not parsed, which would take too long.
 */
export function setsLocation(scripts: readonly string[]): boolean {
  let left = maxTokens;
  for (const script of scripts) {
    if (!script.includes('location')) continue;
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
