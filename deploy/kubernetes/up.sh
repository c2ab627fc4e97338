#!/bin/sh
# Builds the images, loads them into the cluster of the current context, applies the overlay `local` and waits until the stack works.
#   KUBERNETES_LOAD='kind load docker-image'     command that loads an image into the cluster
#   LONGHAND_REGISTRY=… LONGHAND_VERSION=…       use the images of a release instead
set -eu
cd "$(dirname "$0")/../.."

released=${LONGHAND_REGISTRY:-}${LONGHAND_VERSION:-}
[ -n "$released" ] || images=$(deploy/kubernetes/build.sh)
if [ -n "${KUBERNETES_LOAD:-}" ] && [ -z "$released" ]; then
    for image in $images "$(sed -n 's/.*name: redis, newTag: \(.*\) }/redis:\1/p' deploy/kubernetes/base/kustomization.yaml)"; do
        # shellcheck disable=SC2086 # a command and its arguments
        $KUBERNETES_LOAD "$image"
    done
fi
kubectl kustomize deploy/kubernetes/overlays/local |
    sed -E "s|image: longhand/([a-z]+):(.*)|image: ${LONGHAND_REGISTRY:-longhand}/\1:${LONGHAND_VERSION:-\2}|" |
    kubectl apply -f -
for workload in statefulset/expander-cache statefulset/tasks-store deployment/expander deployment/tasks deployment/proxy; do
    kubectl --namespace longhand rollout status --timeout 180s "$workload"
done
# shellcheck disable=SC2016 # variables in the container
kubectl --namespace longhand exec deployment/proxy -- timeout 60 sh -c 'until
    curl -fso /dev/null "127.0.0.1:$LONGHAND_EXPANDER_PORT" && curl -fso /dev/null "127.0.0.1:$LONGHAND_TASKS_PORT"; do sleep 1; done'
echo 'http://expander.localhost:30080/ and http://tasks.localhost:30080/, or ports 30081 and 30082 of a node'
echo 'To remove the stack and keep the tasks, run: make kubernetes-down'
