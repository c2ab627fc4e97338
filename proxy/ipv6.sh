#!/bin/sh
# In the container: nginx also listens on IPv6 if the container has it.
! grep -q . /proc/net/if_inet6 2>/dev/null || sed -i 's/^\( *listen \)\*\(:.*\)/&\n\1[::]\2/' /etc/nginx/conf.d/*
