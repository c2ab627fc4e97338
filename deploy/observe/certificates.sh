#!/bin/bash
# Prints, for node_exporter's textfile collector, until when the certificates are valid that a server shows for each name:
#   certificates.sh proxy:8443 a.example b.example
set -u
server=$1
shift
echo '# HELP longhand_certificate_not_after_seconds Until when the certificate of a host name is valid, in seconds since 1970.'
echo '# TYPE longhand_certificate_not_after_seconds gauge'
for name; do
    # Whatever it shows is reported, valid or not.
    end=$(timeout 5 openssl s_client -connect "$server" -servername "$name" </dev/null 2>/dev/null |
        openssl x509 -noout -enddate 2>/dev/null) || continue
    echo "longhand_certificate_not_after_seconds{name=\"$name\"} $(date --date "${end#*=}" +%s)"
done
