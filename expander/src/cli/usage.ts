import { browserLimit } from '../expansion/expansion.ts';

export const usage = `Usage: longhand-expand [OPTION]... [URL]...
       longhand-expand [OPTION]... < urls.txt

  --help shows all options.
`;

export const manual = `NAME
  longhand-expand - expand short URLs

SYNOPSIS
  longhand-expand [OPTION]... [URL]...
  longhand-expand [OPTION]... < urls.txt
  tail -f urls.txt | longhand-expand

DESCRIPTION
  Follows the redirects of each URL with HEAD requests, and writes one line per URL as soon as the result is known.
  Results appear in order of completion, each with the line number of its URL.

  Without URL arguments, it reads standard input as it arrives: one URL per line, or a JSON array. It skips blank
  lines, and a missing scheme means http://. Memory use does not grow with the number of lines.

  It contacts only public addresses.

OPTIONS
  --concurrency=N      URLs to expand at a time, from 1 to 256; 50 by default
  --follow=all         follow redirects like a browser: also 303, 307, 308, Refresh and meta refresh; keep cookies,
                       and use GET if a website rejects HEAD
  --format=tsv         write line, URL, long URL, redirects, error code, end code, warning and reason, separated by
                       tabs; the default is ndjson
  --max-redirect=N     maximum redirects, from 0 to 50; 5 by default, or ${browserLimit} with --follow=all
  --timeout=SECONDS    timeout per URL, including redirects, from 1 to 600; 8 by default.
                       Each hop times out after three eighths of that time.
  -h, --help           show this text

OUTPUT
  {"line":1,"url":"http://sho.rt/x","longUrl":"https://example.com/","redirectCount":1,"cached":false,"error":null,
   "end":{"code":"final","message":"The last page returned 200 and does not redirect."},
   "reason":"It leads to example.com","warning":null}

  NDJSON is ASCII. No format contains terminal escape sequences. "cached" means that no hop needed a request.
  "error" has a message and a code: invalid_url, unsupported_scheme, target_refused, request_failed or timeout.
  "end" says why the chain ended, and names a target that was not requested, such as mailto:. "warning" is null or
  imitates, subdomain, program, anyone, script or unencrypted. Some warnings need --follow=all.
  Standard error ends with the counts of processed and failed URLs. A terminal also shows them during the run,
  unless the results go to the same terminal.

ENVIRONMENT
  EXPANDER_ALLOWED_NETWORKS  private networks to allow, such as 127.0.0.0/8,::1/128
  EXPANDER_MAX_REDIRECT      the default of --max-redirect, from 0 to 20
  EXPANDER_USER_AGENT        the User-Agent header of every request

EXIT STATUS
  0    every URL was expanded
  1    some URLs failed
  2    invalid usage, or the results could not be written
  130  interrupted with Ctrl-C; finished results are written
`;
