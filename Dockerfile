# The stack's images, one target per service. deploy/release/release.sh adds release labels.

FROM node:26.10.0-trixie-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY shared/package.json shared/
COPY expander/package.json expander/
COPY tasks/package.json tasks/
COPY loadtest/package.json loadtest/
COPY proxy/package.json proxy/
COPY deploy/package.json deploy/
COPY shortener/package.json shortener/
COPY acceptance/package.json acceptance/

FROM manifests AS expander-packages
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --workspace expander

FROM manifests AS tasks-packages
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --workspace tasks

# Node without npm.
FROM debian:trixie-slim AS node
COPY --from=manifests /usr/lib/*/libatomic.so.1* /usr/lib/
COPY --from=manifests /usr/local/bin/node /usr/local/bin/

# Copy shared/ next to the service, because Node does not strip types inside node_modules.
FROM node AS service
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY package.json ./
COPY shared/package.json shared/
COPY shared/src shared/src
# Stripping types and compiling take half of a service's startup time, so the image contains the compile cache.
RUN install --directory --owner=1000 compiled
ENV NODE_COMPILE_CACHE=/app/compiled
USER 1000:1000
EXPOSE 3000 9464

FROM service AS expander
COPY --from=expander-packages /app/node_modules node_modules
COPY --from=expander-packages /app/expander expander
COPY expander expander
# For the service `settings` in docker-compose.yml.
COPY deploy/near-misses.ts deploy/settings.ts deploy/variables.ts deploy/
COPY tasks/src/config.ts tasks/src/
USER root
RUN ln -s /app/expander/src/cli/longhand-expand.ts /usr/local/bin/longhand-expand
USER 1000:1000
# Fills the compile cache. The invalid port makes the service exit once it has loaded all its sources.
RUN echo | longhand-expand --follow=all && node deploy/settings.ts && (PORT=none node expander/src/main.ts || [ $? = 78 ])
CMD ["shared/src/watched.sh", "expander", "node", "expander/src/main.ts"]

FROM service AS tasks
COPY --from=tasks-packages /app/node_modules node_modules
COPY --from=tasks-packages /app/tasks tasks
COPY tasks tasks
RUN PORT=none node tasks/src/main.ts || [ $? = 78 ]
CMD ["shared/src/watched.sh", "tasks", "node", "tasks/src/main.ts"]

# Redis with redis.sh: compose cannot put a file into a read-only container without a bind mount.
FROM redis:8.0.2 AS redis
COPY --chmod=755 deploy/redis/redis.sh /usr/local/bin/

FROM redis AS expander-cache
COPY expander/redis.conf /etc/

FROM redis AS tasks-store
COPY tasks/redis.conf /etc/

# Debian's exporters and Prometheus with this stack's configuration.
FROM debian:trixie-slim AS exporters
RUN apt-get update && \
    apt-get install -y --no-install-recommends \
      prometheus prometheus-alertmanager mtail prometheus-node-exporter openssl && \
    rm -rf /var/lib/apt/lists/*
COPY deploy/observe/mtail /etc/mtail
COPY deploy/observe/prometheus.yml deploy/observe/rules.yaml /etc/prometheus/
# Extracts the PrometheusRule's `spec`. New volumes inherit the owner of /prometheus and /alertmanager.
RUN sed -n "s/^  //p" /etc/prometheus/rules.yaml >/etc/prometheus/rules.yml && \
    install -d -o 65534 -g 65534 /prometheus /alertmanager
COPY --chmod=755 deploy/observe/*.sh /usr/local/bin/
USER 1000:1000
EXPOSE 5514/udp 3903 9100
CMD ["exporters.sh"]

FROM node AS shortener
WORKDIR /app
COPY package.json ./
COPY shortener/ shortener/
USER 1000:1000
EXPOSE 9000
CMD ["node", "shortener/shortener.ts", "--host", "0.0.0.0"]

FROM manifests AS pages
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --workspace proxy
COPY CHANGELOG.md ./
COPY docs docs
COPY proxy/pages proxy/pages
RUN node proxy/pages/main.ts /pages

FROM nginx:1.30 AS proxy
# A new volume inherits the owner of /var/lib/tls.
RUN rm /etc/nginx/conf.d/* && install --directory --owner=101 --mode=700 /var/lib/tls
COPY --chmod=755 proxy/derived.envsh /docker-entrypoint.d/10-longhand-derived.envsh
COPY --chmod=755 proxy/container.sh /docker-entrypoint.d/90-longhand-container.sh
COPY proxy/nginx.conf /etc/nginx/
COPY proxy/templates /etc/nginx/templates
COPY proxy/container.conf.template /etc/nginx/templates/
COPY proxy/tls.conf.template /etc/nginx/templates/tls.servers.template
COPY --from=pages /pages /usr/share/nginx/html
# `resolve` follows added and removed replicas. A draining replica refuses connections for 2 s, and nginx keeps its address for
# 2 s more. nginx skips an address for 5 s after a failed attempt. With max_fails=0, every request would try the address.
ENV NGINX_ENVSUBST_FILTER="^(LONGHAND_|NGINX_LOCAL_RESOLVERS$)" \
    NGINX_ENTRYPOINT_LOCAL_RESOLVERS=1 \
    NGINX_ENTRYPOINT_QUIET_LOGS=1 \
    LONGHAND_LISTEN=* \
    LONGHAND_PORT=8080 LONGHAND_EXPANDER_PORT=8081 LONGHAND_TASKS_PORT=8082 \
    LONGHAND_API_RATE=1000r/s \
    LONGHAND_ACCESS_LOG=/dev/stdout \
    LONGHAND_EXPANDER_SERVER="expander:3000 resolve max_fails=1 fail_timeout=5s" \
    LONGHAND_TASKS_SERVER="tasks:3000 resolve max_fails=1 fail_timeout=5s" \
    LONGHAND_PAGES=/usr/share/nginx/html
USER 101:101
# On SIGQUIT, nginx finishes requests in flight.
STOPSIGNAL SIGQUIT
CMD ["nginx", "-p", "/run", "-e", "stderr", "-c", "/etc/nginx/nginx.conf", "-g", "daemon off;"]
