//go:build tools

package main

// Named here so that `go mod tidy` keeps what they need.
import _ "sigs.k8s.io/cri-tools/cmd/crictl"
