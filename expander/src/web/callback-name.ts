import { asciiJson } from './ascii-json.ts';

/** A dotted path of JavaScript identifiers in ASCII, like all bodies of the API. */
const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Whether `name` may be called in a JSONP response. */
export function isCallbackName(name: string): boolean {
  return name.length <= 128 && dottedPath.test(name);
}

/** `name("...")`; the string contains neither `</` nor JavaScript's line ends U+2028 and U+2029. */
export function callbackCall(name: string, text: string): string {
  return `${name}(${asciiJson(text)})`;
}
