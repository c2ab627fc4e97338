#!/bin/bash
# Prints the certificates' expiry times for node_exporter's textfile collector: certificates.sh tls:8443 a.example b.example
set -u
server=$1
shift
echo '# HELP longhand_certificate_not_after_seconds Expiry time of the certificate for a host name, in seconds since 1970.'
echo '# TYPE longhand_certificate_not_after_seconds gauge'
for name; do
    end=$(timeout 5 openssl s_client -connect "$server" -servername "$name" </dev/null 2>/dev/null |
        openssl x509 -noout -enddate 2>/dev/null) || continue
    echo "longhand_certificate_not_after_seconds{name=\"$name\"} $(date --date "${end#*=}" +%s)"
done
