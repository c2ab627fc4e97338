import type { Page } from 'playwright-core';

const listened = ['console', 'dialog', 'pageerror', 'request'];

/**
 * Makes the browser of `page` one that knows nothing, as a new one does, for a third of the cost: the page keeps its
 * process. Until it is led elsewhere it shows what it did, but does nothing any more. Scripts that were put into all
 * pages, functions that those can call, headers, media and the screen stay.
 *
 * @throws where it shows an error of the browser, which has no storage.
 */
export async function forget(page: Page): Promise<void> {
  const context = page.context();
  for (const event of listened) page.removeAllListeners(event);
  await page.unrouteAll();
  await context.setOffline(false);
  await page.evaluate(
    "stop(); dispatchEvent(new Event('pagehide')); sessionStorage.clear(); localStorage.clear()",
  );
  await page.mouse.move(0, 0);
  await context.clearCookies();
  for (const other of context.pages()) if (other !== page) await other.close();
}
