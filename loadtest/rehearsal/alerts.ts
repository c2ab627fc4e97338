/** Watches which alerts of the Prometheus at PROMETHEUS_URL begin to fire. Without that variable there are none. */
export function watchAlerts(url = process.env.PROMETHEUS_URL): { stop(began: number): Promise<string[]> } {
  const firing = new Map<string, number>();
  const look = async () => {
    const response = await fetch(`${url}/api/v1/alerts`);
    const { data } = (await response.json()) as {
      data: { alerts: { state: string; labels: { alertname: string } }[] };
    };
    for (const { state, labels } of data.alerts) {
      if (state === 'firing' && !firing.has(labels.alertname)) firing.set(labels.alertname, Date.now());
    }
  };
  const timer = url ? setInterval(() => look().catch(() => {}), 1_000) : undefined;
  return {
    async stop(began) {
      clearInterval(timer);
      // What fires before the fault is about something else.
      const caused = [...firing].filter(([, at]) => at >= began);
      return caused.map(([name, at]) => `${name} after ${Math.round((at - began) / 1_000)} s`);
    },
  };
}
