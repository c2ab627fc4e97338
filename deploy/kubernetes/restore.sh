#!/bin/sh
# Replaces the store's data by a backup of the CronJob, and sets the old data aside.
#   deploy/kubernetes/restore.sh [FILE]      in the volume of the backups; the newest by default
# Meanwhile tasks answers 503.
set -eu
namespace=longhand
file=${1:-}
kubectl() { command kubectl --namespace "$namespace" "$@"; }

script=$(kubectl get statefulset tasks-store \
    --output 'jsonpath={.spec.template.spec.volumes[?(@.name=="script")].configMap.name}')
image=$(kubectl get statefulset tasks-store --output 'jsonpath={.spec.template.spec.containers[0].image}')
trap 'kubectl delete --ignore-not-found --wait pod restore >/dev/null; kubectl scale --replicas 1 statefulset tasks-store' EXIT
kubectl scale --replicas 0 statefulset tasks-store
kubectl wait --for delete --timeout 60s pod tasks-store-0
kubectl apply -f - <<END
apiVersion: v1
kind: Pod
metadata: { name: restore, labels: { app.kubernetes.io/part-of: longhand } }
spec:
  restartPolicy: Never
  enableServiceLinks: false
  automountServiceAccountToken: false
  securityContext:
    { runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999, seccompProfile: { type: RuntimeDefault } }
  containers:
    - name: restore
      image: "$image"
      imagePullPolicy: IfNotPresent
      workingDir: /data
      command:
        - sh
        - -euc
        - |
          file=\${1:-\$(cd /backups && ls tasks-*.rdb | tail -n 1)}
          (cd /backups && sha256sum -c "\$file.sha256")
          redis.sh restore <"/backups/\$file"
          echo "Restored from \$file."
        - sh
        - "$file"
      securityContext:
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
      volumeMounts:
        - { name: tasks, mountPath: /data }
        - { name: backups, mountPath: /backups, readOnly: true }
        - { name: script, mountPath: /usr/local/bin/redis.sh, subPath: redis.sh, readOnly: true }
  volumes:
    - { name: tasks, persistentVolumeClaim: { claimName: tasks-tasks-store-0 } }
    - { name: backups, persistentVolumeClaim: { claimName: backups } }
    - { name: script, configMap: { name: "$script", defaultMode: 0555 } }
END
if ! kubectl wait --for 'jsonpath={.status.phase}=Succeeded' --timeout 120s pod restore; then
    kubectl logs restore >&2
    echo 'The backup was not restored. Nothing was changed.' >&2
    exit 1
fi
kubectl logs restore
