/** The tokens that matter here: comments, strings, braces, and assignments to the location. */
const tokens =
  /\/\*.*?(?:\*\/|$)|\/\/[^\n]*|(["'`])(?:\\.|(?!\1)[^\\])*(?:\1|$)|([{}])|(?<![\w$.])(?:(?:window|document|self)\s*\.\s*)?(location\s*(?:\.\s*(?:assign|replace)\s*\(|(?:\.\s*href\s*)?=(?![=>])))/gs;

/** Tokens that are examined in one page: this takes 2 ms. */
const maxTokens = 4_000;

/**
 * Whether a script of the page sets the location outside all braces, so probably as soon as it runs. Parsing the scripts
 * would take too long.
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
