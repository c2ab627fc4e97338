#!/bin/sh
# In containers: listen on IPv6, too, if the container has it.
! grep -q . /proc/net/if_inet6 2>/dev/null || sed -i 's/^\( *listen \)\*\(:.*\)/&\n\1[::]\2/' /etc/nginx/conf.d/*
