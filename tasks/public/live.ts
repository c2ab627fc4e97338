/** Milliseconds of silence after which the connection counts as lost: the server sends the version every 5 s. */
const silence = 20_000;
/** Milliseconds until the next attempt if the server refused the connection; the browser retries in other cases. */
const pause = 2_000;

/**
 * Calls `onVersion` with the version of the list, at once and after each change by anybody. The connection is closed
 * while the page is hidden, because a browser opens only six to one server.
 *
 * @param url of the server-sent events
 * @param onRefused called where the server refuses the connection, each time
 * @param onSilence called where nothing was heard for 20 s, until something is
 */
export function live(
  url: string,
  onVersion: (version: string) => void,
  onRefused: () => void,
  onSilence: () => void,
) {
  let source: EventSource | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let heard = 0;

  function open() {
    heard = performance.now();
    connect();
  }

  function connect() {
    close();
    if (document.hidden) return;
    source = new EventSource(url);
    source.onmessage = ({ data }) => {
      heard = performance.now();
      reconnectIn(silence);
      onVersion(data);
    };
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      reconnectIn(pause * (1 + Math.random()));
      onRefused();
    };
    reconnectIn(silence);
  }

  function close() {
    clearTimeout(watch);
    source?.close();
    source = undefined;
  }

  function reconnectIn(milliseconds: number) {
    clearTimeout(watch);
    watch = setTimeout(() => {
      if (performance.now() >= heard + silence) onSilence();
      connect();
    }, milliseconds);
  }

  document.addEventListener('visibilitychange', open);
  addEventListener('online', open);
  addEventListener('pagehide', close);
  addEventListener('pageshow', ({ persisted }) => persisted && open());
  open();
}
