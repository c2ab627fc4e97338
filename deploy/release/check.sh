#!/bin/sh
# Reports what prevents a release of this checkout. Changes nothing.
cd "$(dirname "$0")/../.." || exit
faults=0
fault() { echo "  problem  $*"; faults=$((faults + 1)); }

version=$(node -p 'require("./package.json").version')
echo "Longhand $version"
for manifest in */package.json expander/package/package.json; do
    [ "$(node -p "require('./$manifest').version")" = "$version" ] || fault "$manifest has a different version"
done
tags=$(grep -hoE 'longhand/[a-z]+, .*newTag: [^ ]+' -r deploy/kubernetes | sed 's/.*: //' | sort -u)
[ "$tags" = "$version" ] || fault "deploy/kubernetes has different tags: $tags"
grep -q "^## $version\b" CHANGELOG.md || fault "CHANGELOG.md has no section ## $version"
[ -z "$(git status --porcelain)" ] || fault "there are uncommitted changes"
if git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null; then fault "the tag v$version already exists"; fi
echo 'Not checked: make check, make rehearse (attach its report to the release), npm audit, the image scan.'
[ "$faults" = 0 ] || exit 1
echo "Ready: git tag v$version"
