import type { Expansion } from '../expansion/expansion.ts';
import { isGone, isUnknownName, works } from './wording.ts';

/** What a visitor learns first about a link. */
export type Verdict = 'works' | 'gone' | 'failing' | 'beware';

export const verdictWords: Record<Verdict, string> = {
  works: 'Works',
  gone: 'Gone',
  failing: 'Not working just now',
  beware: 'Beware',
};

/** Ends that say nothing about the link. */
const unjudged = new Set([
  'empty',
  'invalid_url',
  'invalid_callback',
  'overloaded',
  'rate_limited',
  'aborted',
]);

/** @param isWarned whether the host of the destination may be taken for another one. */
export function verdict(expansion: Expansion, isWarned: boolean): Verdict | null {
  const { end, error } = expansion;
  const isMistyped = end.code === 'unsupported_scheme' && error !== null;
  if (unjudged.has(end.code) || isMistyped) return null;
  if (isWarned || end.code === 'target_refused' || end.code === 'unsupported_scheme') return 'beware';
  if (isGone(expansion) || isUnknownName(expansion)) return 'gone';
  return works(expansion) ? 'works' : 'failing';
}
