#!/usr/bin/perl
# Runs CHROMIUM without netlink, so that it does not notice network changes.
#
# When a network interface appears or disappears, Chromium aborts all requests that are connecting, even to 127.0.0.1
# (ERR_NETWORK_CHANGED). Containers of other tests cause this. If Chromium cannot open a netlink socket, it assumes that the
# network never changes (net/base/address_tracker_linux.cc). So a seccomp filter blocks netlink sockets.
use strict;
use warnings;

# The numbers of the system calls prctl and socket.
my %calls = ( x86_64 => [ 157, 41 ], aarch64 => [ 167, 198 ] );
chomp( my $machine = `uname -m` );
my ( $prctl, $socket ) = @{ $calls{$machine} };
my ( $PR_SET_SECCOMP, $SECCOMP_MODE_FILTER, $PR_SET_NO_NEW_PRIVS ) = ( 22, 2, 38 );
my ( $AF_NETLINK, $EAFNOSUPPORT ) = ( 16, 97 );
my ( $load, $jump_if_equal, $return ) = ( 0x20, 0x15, 0x06 );
my ( $errno, $allow ) = ( 0x00050000, 0x7fff0000 );

# Code, jump if true, jump if false, operand (linux/filter.h). Offsets are in struct seccomp_data.
my @filter = (
    [ $load,          0, 0, 0 ],                        # system call number
    [ $jump_if_equal, 0, 3, $socket ],
    [ $load,          0, 0, 16 ],                       # first argument
    [ $jump_if_equal, 0, 1, $AF_NETLINK ],
    [ $return,        0, 0, $errno | $EAFNOSUPPORT ],
    [ $return,        0, 0, $allow ],
);
my $code = join '', map { pack 'SCCL', @$_ } @filter;
my $program = pack 'S x![Q] P', scalar @filter, $code;    # struct sock_fprog
syscall $prctl, $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0;
syscall $prctl, $PR_SET_SECCOMP, $SECCOMP_MODE_FILTER, $program;
exec $ENV{CHROMIUM}, @ARGV or die "$ENV{CHROMIUM}: $!\n";
