import { askFor } from './change.js';
import { list } from './dom.js';
import { Failure } from './request.js';

/** A request to add tasks whose response was lost. The server may have added them. */
interface Unanswered {
  key: string;
  /** Called if the server has added the tasks. */
  added: () => void;
  /** The version of the list in which the tasks were missing. */
  missingIn?: string | undefined;
}

let unanswered: Unanswered | undefined;

/** Remembers a failed request, if the server may have added its tasks. */
export function remember(failure: Failure, key: string, added: () => void) {
  if (failure.mayHaveHappened) unanswered = { key, added };
}

/** Forgets the request, because the user has sent or closed its form. */
export function forget() {
  unanswered = undefined;
}

/** Asks the server whether it has added the tasks, once for each version of the list. */
export async function settleUnanswered() {
  const asked = unanswered;
  if (!asked || asked.missingIn === list().dataset.version) return;
  const saved = () => {
    if (unanswered !== asked) return;
    forget();
    asked.added();
  };
  const isAdded = await askFor(asked.key, saved).catch((error) => {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  });
  if (isAdded === false) asked.missingIn = list().dataset.version;
}
