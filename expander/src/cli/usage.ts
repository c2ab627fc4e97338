import { browserLimit } from '../expansion/expansion.ts';

export const usage = `Usage: longhand-expand [OPTION]... [URL]...
       longhand-expand [OPTION]... < urls.txt

  --help shows all options.
`;

export const manual = `NAME
  longhand-expand - say where short URLs lead

SYNOPSIS
  longhand-expand [OPTION]... [URL]...
  longhand-expand [OPTION]... < urls.txt
  tail -f urls.txt | longhand-expand

DESCRIPTION
  Follows the redirects of each URL with HEAD requests, and writes one line per URL as soon as the result is known.
  Lines come in order of completion. Each has the number of its URL.

  Without a URL, standard input is read as it arrives: one URL per line, or a JSON array. Blank lines are skipped,
  and a missing scheme means http://. Memory use does not grow with the lines.

  Every hop contacts only public addresses.

OPTIONS
  --concurrency=N      URLs in progress at a time, from 1 to 256; 50 by default
  --follow=all         go where browsers go: follow 303, 307, 308, Refresh and meta refresh too, keep cookies, and
                       use GET where a website refuses HEAD
  --format=tsv         write line, URL, long URL, redirects and error code, separated by tabs;
                       the default is ndjson
  --max-redirect=N     redirects to follow, from 0 to 50; 5 by default, with --follow=all ${browserLimit}
  --timeout=SECONDS    for a URL with all its redirects, from 1 to 600; 8 by default.
                       One website may take three eighths of it.
  -h, --help           show this text

OUTPUT
  {"line":1,"url":"http://sho.rt/x","longUrl":"https://example.com/","redirectCount":1,"cached":false,"error":null}

  NDJSON is ASCII, and no format has terminal escape sequences. "cached" means that no hop needed a request.
  "error" has a code and a message: invalid_url, unsupported_scheme, target_refused, request_failed, timeout.
  Standard error ends with the numbers of processed and failed URLs. On a terminal it also shows them meanwhile,
  unless the results go to the same terminal.

ENVIRONMENT
  EXPANDER_ALLOWED_NETWORKS  private networks to allow: 127.0.0.0/8,::1/128
  EXPANDER_MAX_REDIRECT      the default of --max-redirect, from 0 to 20
  EXPANDER_USER_AGENT        the User-Agent that websites see

EXIT STATUS
  0    every URL was expanded
  1    some failed
  2    wrong usage, or the results cannot be written
  130  interrupted with Ctrl-C; finished results are written
`;
