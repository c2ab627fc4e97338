import type { Answer, FetchHop, FetchHopOptions } from './expansion.ts';
import { nextStep, type Step } from './next-step.ts';
import { type Target, withoutFragment } from './target.ts';

/** What a URL answered, and where it leads. */
export interface Visit {
  step: Step;
  /** Null for a wrapper, which is not requested. */
  answer: Answer | null;
  wrapper?: string;
}

/** One chain as its websites see it: where it has been, and as whom. */
export interface Session {
  /** @throws ExpansionError */
  visit(target: Target): Promise<Visit>;
  /** Whether the chain, continued with `next`, makes a request that it has made before. */
  repeats(next: Target): boolean;
  /** Whether a website may have answered to what only this chain had sent. */
  isPersonal(): boolean;
}

/** Begins a chain that is followed by status and `Location` alone. */
export function plainSession(fetchHop: FetchHop, options: FetchHopOptions): Session {
  const visited: URL[] = [];
  return {
    async visit(target) {
      visited.push(target.url);
      const answer = await fetchHop(target.url, options);
      return { answer, step: nextStep(target, answer, 'default') };
    },
    repeats: ({ url }) => new Set([...visited, url].map(withoutFragment)).size <= visited.length,
    isPersonal: () => false,
  };
}
