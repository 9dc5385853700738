"""Authentication, allowed hosts and origins, and the throttle of failed attempts.

Begin with `identity`.
"""
