// @ts-check
import { complain } from './notice.js';
import { load, Refused } from './request.js';
import { swap } from './swap.js';

/** What is under way; one thing at a time, so that no answer overtakes another. */
let turn = Promise.resolve();

/** @param {() => Promise<void>} step */
export function inTurn(step) {
  turn = turn.then(step).catch((error) => complain(error.message));
}

/** Which part of the list the page at `url` shows. */
const query = (url = location.href) => {
  const { searchParams } = new URL(url);
  return new URLSearchParams({
    filter: searchParams.get('filter') ?? 'all',
    ...(searchParams.has('after') && { after: `${searchParams.get('after')}` }),
  });
};

/** Shows the list as it is now; asks only whether it changed where it did not. */
export async function refresh() {
  const { page } = await load(`/tasks/partial?${query()}`, { cache: 'no-cache' });
  swap(page);
}

/** What was sent and not answered. */
const sent = new Set();

/**
 * Sends a change when its turn comes, and shows the list that it leads to.
 *
 * @param {string} url
 * @param {() => RequestInit | undefined | Promise<RequestInit | undefined>} init what to send then; nothing where it is undefined
 * @param {(page: Document) => void} done
 * @param {(refused: Refused) => void | Promise<void>} [failed]
 * @param {unknown} [key] while it is under way, a change of the same key (a second click) is not sent
 */
export function change(url, init, done, failed = explain, key = url) {
  if (sent.has(key)) return;
  sent.add(key);
  document.body.classList.add('busy');
  inTurn(async () => {
    try {
      const request = await init();
      if (!request) return;
      const answer = await load(url, request);
      done(answer.page);
      if (`${query(answer.url)}` === `${query()}`) swap(answer.page);
      // The change is made; if the list cannot be had now, the next event says so again.
      else await refresh().catch(() => {});
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await failed(error);
    } finally {
      sent.delete(key);
      document.body.classList.toggle('busy', sent.size > 0);
    }
  });
}

/** @param {Refused} refused */
async function explain({ message, page }) {
  // The server answered: what is shown here may be out of date, and the token as well. Who reads the reason
  // can go on.
  const current = page && (await load(location.href).catch(() => undefined))?.page;
  if (current) {
    swap(current);
    for (const form of document.forms) renew(form, current, '_csrf');
  }
  complain(message);
}

/**
 * Takes over hidden fields of the first form on `page` that has them.
 *
 * @param {HTMLFormElement} form
 * @param {Document} page
 * @param {string[]} names
 */
export function renew(form, page, ...names) {
  for (const name of names) {
    const selector = `input[type=hidden][name=${name}]`;
    const fresh = /** @type {HTMLInputElement | null} */ (page.querySelector(selector));
    const field = /** @type {HTMLInputElement | null} */ (form.querySelector(selector));
    if (fresh && field) field.value = fresh.value;
  }
}
