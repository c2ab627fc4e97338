// @ts-check

/** Milliseconds a response may take: longer than the proxy waits for it. */
const deadline = 15_000;

/** A request that failed. The message says why, in words for people. */
export class RequestFailed extends Error {
  /**
   * @param {string} message
   * @param {Document} [page] the response, if there was one
   * @param {boolean} [refused] whether the response says that nothing was changed
   */
  constructor(message, page, refused = false) {
    super(message);
    this.page = page;
    this.refused = refused;
  }
}

/**
 * Fetches a page as a browser would, and follows redirects.
 *
 * @param {string} url
 * @param {RequestInit} [init]
 * @throws {RequestFailed}
 */
export async function load(url, init) {
  try {
    const options = { ...init, headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(deadline) };
    const response = await fetch(url, options);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    // The log-in page of a network may answer instead of us, with 200.
    if (response.ok && page.querySelector('#list, form.write')) return { url: response.url, page };
    throw new RequestFailed(
      reason(page) || `This failed (error ${response.status}). Please try again.`,
      page,
      response.status >= 400 && response.status < 500,
    );
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    throw new RequestFailed('This did not get through. Check the connection and try again.');
  }
}

/** @param {Document} page */
const reason = (page) => (page.querySelector('.problem') ?? page.querySelector('h1'))?.textContent;
