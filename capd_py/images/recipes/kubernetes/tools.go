//go:build tools

package main

// Named here so that `go mod tidy` keeps what it needs.
import _ "sigs.k8s.io/cri-tools/cmd/crictl"
