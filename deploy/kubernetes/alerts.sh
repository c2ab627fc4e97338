#!/bin/sh
# Prints the alerts of deploy/observe/rules.yml for the Prometheus operator:
#   deploy/kubernetes/alerts.sh | kubectl apply -f -
cat <<END
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: longhand, namespace: longhand }
spec:
$(sed 's/^/  /' "$(dirname "$0")/../observe/rules.yml")
END
