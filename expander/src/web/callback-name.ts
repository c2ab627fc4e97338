import { asciiJson } from './ascii-json.ts';

/** A dotted path of JavaScript identifiers, in ASCII: the bodies of the API are. */
const dottedPath = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** Whether `name` may stand in front of the parenthesis of a JSONP call. */
export function isCallbackName(name: string): boolean {
  return name.length <= 128 && dottedPath.test(name);
}

/** `name("...")`: in the string neither `</` nor a line end of JavaScript's (U+2028, U+2029) is left raw. */
export function callbackCall(name: string, text: string): string {
  return `${name}(${asciiJson(text)})`;
}
