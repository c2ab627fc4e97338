import { methodLabel } from '@longhand/shared/observe.ts';
import { durationBuckets } from '@longhand/shared/spans.ts';
import { Counter, Histogram, type Registry } from 'prom-client';
import { routeOf } from './routes.ts';

/** What the proxy's access log says of a request, as far as it is counted. */
export interface AccessLine {
  service: string;
  msg: string;
  application: string;
  method: string;
  path: string;
  status: number;
  seconds: number;
  /** As nginx names them; empty where it has nothing to say. */
  cache: string;
  limit: string;
  /** For each attempt; `-` where a service did not answer. */
  upstreamSeconds: string;
  upstreamHeaderSeconds: string;
  /** The `Cache-Status` of the service's answer (RFC 9211). */
  cacheStatus: string;
}

/** What nginx says of its cache and its limits; anything else is no label. */
const cacheStates = new Set(['HIT', 'MISS', 'EXPIRED', 'STALE', 'UPDATING', 'REVALIDATED', 'BYPASS']);
const limitStates = new Set(['PASSED', 'DELAYED', 'REJECTED']);

/**
 * Metrics at the door: what the proxy answered, also where no service did (429, 413, 499, 502, 504, its cache). Their
 * labels are of fixed sets, whatever clients send.
 *
 * @returns takes one line of the proxy's output, and ignores what is not about a request.
 */
export function doorMetrics(metrics: Registry): (line: string) => void {
  const { requests, failures, durations, hits, upstream, unread } = createMetrics(metrics);
  return (text) => {
    if (!text.startsWith('{')) return;
    const line = parse(text);
    if (!line) return unread.inc();
    if (line.service !== 'proxy' || line.msg !== 'request') return;
    const application = line.application || 'none';
    const route = routeOf(application, line.path);
    const labels = { application, ...(route !== undefined && { route }) };
    requests.inc({
      ...labels,
      method: methodLabel(line.method),
      status: line.status,
      answered_by: answeredBy(line),
      ...(cacheStates.has(line.cache) && { cache: line.cache }),
      ...(limitStates.has(line.limit) && { limit: line.limit }),
    });
    if (isFailure(line)) failures.inc({ application });
    // A stream lasts for as long as its page is open.
    if (route === '/tasks/events') return;
    durations.observe(labels, line.seconds);
    if (isHit(line)) hits.observe({ application }, line.seconds);
    if (line.upstreamSeconds) upstream.observe({ application }, sum(line.upstreamSeconds));
  };
}

function createMetrics(metrics: Registry) {
  const registers = [metrics];
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets: durationBuckets, registers });
  const failures = new Counter({
    name: 'door_failures_total',
    help: 'Requests that were not answered: a status from 500 on that is not about a website.',
    labelNames: ['application'],
    registers,
  });
  for (const application of ['expander', 'tasks']) failures.inc({ application }, 0);
  return {
    failures,
    requests: new Counter({
      name: 'door_requests_total',
      help: 'Requests by what the proxy answered. cache and limit are as nginx names them.',
      labelNames: ['application', 'route', 'method', 'status', 'answered_by', 'cache', 'limit'],
      registers,
    }),
    durations: histogram(
      'door_request_duration_seconds',
      'Time from the first bytes of a request to the last of its response, event streams apart.',
      ['application', 'route'],
    ),
    hits: histogram(
      'door_hit_duration_seconds',
      'The same for expansions that came from a cache, of the proxy or of the expander.',
      ['application'],
    ),
    upstream: histogram('door_upstream_duration_seconds', 'The part of it that the services took.', [
      'application',
    ]),
    unread: new Counter({
      name: 'door_lines_unread_total',
      help: 'Lines of the access log that could not be read.',
      registers,
    }),
  };
}

function parse(text: string): AccessLine | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Who made the answer: nginx's cache, a service (whose last attempt has the time of a header), or nginx itself. */
function answeredBy({ cache, upstreamHeaderSeconds }: AccessLine): 'cache' | 'service' | 'proxy' {
  if (cache === 'HIT' || cache === 'STALE' || cache === 'UPDATING') return 'cache';
  return /\d$/.test(upstreamHeaderSeconds) ? 'service' : 'proxy';
}

/** Whether the request got no answer. The expander's own 502 and 504 are one: the website did not answer. */
function isFailure(line: AccessLine): boolean {
  if (line.status < 500) return false;
  const { application, status } = line;
  const aboutWebsite = application === 'expander' && (status === 502 || status === 504);
  return !(aboutWebsite && answeredBy(line) !== 'proxy');
}

/** Whether no website had to be asked for it. */
const isHit = (line: AccessLine) =>
  line.application === 'expander' &&
  line.status === 200 &&
  (answeredBy(line) === 'cache' || line.cacheStatus.endsWith('; hit'));

/** `0.001, - : 0.003`: one time for each attempt. */
const sum = (times: string) =>
  times.split(/[,:]/).reduce((total, time) => total + (Number.parseFloat(time) || 0), 0);
