import type { Page } from 'playwright-core';

const listened = ['console', 'dialog', 'pageerror', 'request'];

/**
 * Clears what `page` and its context remember. It costs a third of a new page, because the page keeps its process. Its
 * document stays visible until the next navigation, but does nothing any more. Init scripts, exposed functions, headers,
 * media and the viewport stay.
 *
 * @throws if the page shows an error of the browser, which has no storage.
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
