// @ts-check

const key = 'draft';

/** What was typed in this tab and not saved. A browser that forbids storage keeps nothing. */
export function readDraft() {
  try {
    return sessionStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

/** @param {string} text nothing once it is saved */
export function keepDraft(text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // It is lost on reload, as it would be without this.
  }
}
