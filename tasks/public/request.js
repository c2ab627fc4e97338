// @ts-check

/** Milliseconds an answer may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that was not carried out; its message says why, in words for people. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {Document} [page] what the server answered, where it did
   */
  constructor(message, page) {
    super(message);
    this.page = page;
  }
}

/**
 * Fetches a page as a browser would, and follows redirects.
 *
 * @param {string} url
 * @param {RequestInit} [init]
 * @throws {Refused}
 */
export async function load(url, init) {
  try {
    const options = { ...init, headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(deadline) };
    const response = await fetch(url, options);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    // Another network's log-in page may answer for us, and well.
    if (response.ok && page.querySelector('#list, form.write')) return { url: response.url, page };
    throw new Refused(reason(page) || `This failed (error ${response.status}). Please try again.`, page);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused('This did not get through. Check the connection and try again.');
  }
}

/** @param {Document} page */
const reason = (page) => (page.querySelector('.problem') ?? page.querySelector('h1'))?.textContent;
