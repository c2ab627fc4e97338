#!/bin/sh
# Replaces the store's data with a backup from the CronJob, and sets the old data aside. Tasks returns 503 during the restore.
#   deploy/kubernetes/restore.sh [FILE]      FILE in the backup volume, by default the newest
set -eu
file=${1:-}
kubectl() { command kubectl --namespace longhand "$@"; }

# Start the store even if a step fails.
trap 'set +e; kubectl delete --ignore-not-found --cascade=foreground --wait job restore >/dev/null; kubectl scale --replicas 1 statefulset tasks-store' EXIT
kubectl scale --replicas 0 statefulset tasks-store
kubectl wait --for delete --timeout 60s pod tasks-store-0
# Run the CronJob's job with another command and the store's volume.
kubectl create job restore --from cronjob/backup --dry-run=client --output yaml |
    kubectl patch --local --filename - --output yaml --type json --patch "
- { op: replace, path: /spec/backoffLimit, value: 0 }
- { op: replace, path: /spec/template/spec/restartPolicy, value: Never }
- op: replace
  path: /spec/template/spec/containers/0/command
  value:
    - sh
    - -euc
    - |
      file=\${1:-\$(ls tasks-*.rdb | tail -n 1)}
      redis.sh restore /data <\"\$file\"
      echo \"Restored from \$file.\"
    - sh
    - '$file'
- { op: add, path: /spec/template/spec/containers/0/volumeMounts/0/readOnly, value: true }
- op: add
  path: /spec/template/spec/containers/0/volumeMounts/-
  value: { name: tasks, mountPath: /data }
- op: add
  path: /spec/template/spec/volumes/-
  value: { name: tasks, persistentVolumeClaim: { claimName: tasks-tasks-store-0 } }
" | kubectl apply -f -
if ! kubectl wait --for condition=Complete --timeout 120s job restore; then
    kubectl logs job/restore >&2
    echo 'The restore failed. Nothing was changed.' >&2
    exit 1
fi
kubectl logs job/restore
