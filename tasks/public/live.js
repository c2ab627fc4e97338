// @ts-check

/** Milliseconds without a word from the server after which the connection counts as lost: it names the version every 5 s. */
const silence = 20_000;
/** Milliseconds until the next attempt where the server refused the connection; the browser sees to the others. */
const pause = 2_000;

/**
 * Calls `tell` with the version of the list: at once, and after every change, wherever it was made. The
 * connection is let go while nobody sees the page, because a browser opens only six to one server.
 *
 * @param {string} url of the server-sent events
 * @param {(version: string) => void} tell
 */
export function live(url, tell) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let watch;

  function open() {
    close();
    if (document.hidden) return;
    source = new EventSource(url);
    source.onmessage = ({ data }) => {
      reopenIn(silence);
      tell(data);
    };
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) reopenIn(pause * (1 + Math.random()));
    };
    reopenIn(silence);
  }

  function close() {
    clearTimeout(watch);
    source?.close();
    source = undefined;
  }

  function reopenIn(/** @type {number} */ milliseconds) {
    clearTimeout(watch);
    watch = setTimeout(open, milliseconds);
  }

  document.addEventListener('visibilitychange', open);
  addEventListener('online', open);
  addEventListener('pagehide', close);
  addEventListener('pageshow', ({ persisted }) => persisted && open());
  open();
}
