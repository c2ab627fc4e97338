#!/bin/sh
# Removes the stack from the cluster of the current context. Deletes the volumes with tasks and backups only if WIPE=1.
set -eu
cd "$(dirname "$0")/../.."

kubectl delete --ignore-not-found --wait --namespace longhand \
    deployment,statefulset,cronjob,job,pod,service,poddisruptionbudget,networkpolicy,configmap,secret \
    --selector app.kubernetes.io/part-of=longhand
if [ "${WIPE:-}" = 1 ]; then
    kubectl delete --ignore-not-found --wait namespace longhand
else
    echo 'The tasks and backups are kept. To delete them too, run: WIPE=1 make kubernetes-down'
fi
